"""XXH3-64 with seed 0 for up to 128 bytes, from the specification of xxHash; for tests of the index format only."""

from __future__ import annotations

_MASK = (1 << 64) - 1
_PRIME64 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
_MX1, _MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
)


def xxh3_64(data: bytes) -> int:
    """The hash of `data`."""
    length = len(data)
    if length > 128:
        raise ValueError(f"{length} bytes; this is the short half of the algorithm")
    if length == 0:
        return _avalanche64(_secret(56) ^ _secret(64))
    if length <= 3:
        combined = data[0] << 16 | data[length >> 1] << 24 | data[-1] | length << 8
        return _avalanche64(combined ^ (_secret(0, 4) ^ _secret(4, 4)))
    if length <= 8:
        mixed = (_int(data[-4:]) + (_int(data[:4]) << 32)) ^ (_secret(8) ^ _secret(16))
        mixed ^= _rotate(mixed, 49) ^ _rotate(mixed, 24)
        mixed = mixed * _MX2 & _MASK
        mixed = (mixed ^ ((mixed >> 35) + length)) * _MX2 & _MASK
        return mixed ^ mixed >> 28
    if length <= 16:
        low = _int(data[:8]) ^ (_secret(24) ^ _secret(32))
        high = _int(data[-8:]) ^ (_secret(40) ^ _secret(48))
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return _avalanche(length + swapped + high + _fold(low, high))
    total = length * _PRIME64[0]
    for step in range((length - 1) // 32 + 1):
        total += _mix(data[16 * step : 16 * step + 16], 32 * step)
        end = length - 16 * step
        total += _mix(data[end - 16 : end], 32 * step + 16)
    return _avalanche(total)


def _int(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _secret(place: int, size: int = 8) -> int:
    return _int(_SECRET[place : place + size])


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (64 - bits)) & _MASK


def _fold(left: int, right: int) -> int:
    product = left * right
    return (product ^ product >> 64) & _MASK


def _mix(data: bytes, place: int) -> int:
    return _fold(_int(data[:8]) ^ _secret(place), _int(data[8:]) ^ _secret(place + 8))


def _avalanche(value: int) -> int:
    value &= _MASK
    value = (value ^ value >> 37) * _MX1 & _MASK
    return value ^ value >> 32


def _avalanche64(value: int) -> int:
    value = (value ^ value >> 33) * _PRIME64[1] & _MASK
    value = (value ^ value >> 29) * _PRIME64[2] & _MASK
    return value ^ value >> 32
