"""What Metal needs of Foundation."""

from __future__ import annotations

from pathlib import Path

from .signatures import Selectors, selector


class NSError(Selectors):
    def __init__(
        self, message: str, information: NSDictionary | None = None, code: int = 1
    ) -> None:
        self._message, self._information, self._code = message, information, code

    @selector()
    def code(self) -> int:
        return self._code

    @selector()
    def localizedDescription(self) -> str:
        return self._message

    @selector()
    def userInfo(self) -> NSDictionary | None:
        return self._information


class NSDictionary(Selectors):
    def __init__(self, values: dict[str, object]) -> None:
        self._values = values

    @selector("@")
    def objectForKey_(self, key: str) -> object:
        return self._values.get(key)


class NSURL(Selectors):
    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def fileURLWithPath_(cls, path: str) -> NSURL:
        return cls(Path(path))
