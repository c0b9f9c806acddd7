#!/usr/bin/env python3
"""Packs a folder with the Python package `clatter` into a wheel and prints its path: tools/wheel.py FOLDER VERSION OUT

A wheel (PEP 427) is a zip file with the package, its metadata, and a list of all files with their checksums. It is for the
Python that runs this script, on this kind of machine, and needs the system's libraries that the Debian package names.
"""
import base64
import hashlib
import pathlib
import sys
import sysconfig
import zipfile

root = pathlib.Path(__file__).resolve().parent.parent
METADATA = """\
Metadata-Version: 2.1
Name: clatter
Version: {version}
Summary: Machines whose parts move, flex and knock on each other: simulation of flexible multibody systems with contact
License: Apache-2.0
Requires-Python: =={python}.*
Requires-Dist: numpy
Description-Content-Type: text/markdown

{text}"""
WHEEL = """\
Wheel-Version: 1.0
Generator: tools/wheel.py
Root-Is-Purelib: false
Tag: {tag}
"""
DATE = (1980, 1, 1, 0, 0, 0)  # the same files give the same bytes


def put(archive, records, name, data):
    entry = zipfile.ZipInfo(name, DATE)
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    records.append(f"{name},sha256={digest},{len(data)}")


def main():
    folder, version, out = pathlib.Path(sys.argv[1]), sys.argv[2], pathlib.Path(sys.argv[3])
    python = f"{sys.version_info.major}{sys.version_info.minor}"
    tag = f"cp{python}-cp{python}-" + sysconfig.get_platform().replace("-", "_").replace(".", "_")
    info = f"clatter-{version}.dist-info"
    path = out / f"clatter-{version}-{tag}.whl"
    records = []
    with zipfile.ZipFile(path, "w") as archive:
        for file in sorted(p for p in folder.rglob("*") if p.is_file()):
            put(archive, records, file.relative_to(folder).as_posix(), file.read_bytes())
        text = (root / "docs/python.md").read_text()
        metadata = METADATA.format(version=version, python=f"{sys.version_info.major}.{sys.version_info.minor}", text=text)
        put(archive, records, f"{info}/METADATA", metadata.encode())
        put(archive, records, f"{info}/WHEEL", WHEEL.format(tag=tag).encode())
        put(archive, records, f"{info}/LICENSE", (root / "LICENSE").read_bytes())
        records.append(f"{info}/RECORD,,")
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD", DATE), "\n".join(records) + "\n")
    print(path)


if __name__ == "__main__":
    main()
