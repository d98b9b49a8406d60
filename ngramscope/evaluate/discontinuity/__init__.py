"""Do scores jump at the date up to which a model may have been trained?"""
