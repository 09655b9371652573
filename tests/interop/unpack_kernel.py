#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Takes the ELF image out of a bzImage: unpack_kernel.py VMLINUZ VMLINUX."""
import lzma
import subprocess
import sys

XZ, ZSTD = b"\xfd7zXZ\0", b"\x28\xb5\x2f\xfd"


def candidates(image):
    at = image.find(XZ)
    if at >= 0:
        yield lzma.LZMADecompressor().decompress(image[at:])
    at = image.find(ZSTD)
    if at >= 0:
        # What follows the frame makes zstd fail after it has written all of it.
        yield subprocess.run(["zstd", "-dc"], input=image[at:], capture_output=True, check=False).stdout


def main(source, target):
    with open(source, "rb") as file:
        image = file.read()
    for kernel in candidates(image):
        if kernel[:4] == b"\x7fELF":
            with open(target, "wb") as file:
                file.write(kernel)
            return 0
    print(f"unpack_kernel: no kernel in {source}", file=sys.stderr)
    return 1


sys.exit(main(*sys.argv[1:]))
