"""The signed head of a record: a statement that a record had this hash at this input, and when.

A head alone proves to whoever noted it that a record was not changed. Signed, it also proves to others that the table's signer
said so: a signer signs only what follows from the head before, so two signed heads that contradict each other prove a forged record, or a
restore that a person noted at the signer.
"""

from base64 import b64decode, b64encode
from typing import Annotated, Final, Self

from pydantic import Field

from punto.controller.journal.entries import Head
from punto.controller.signing.keys import SigningKey, signed_by
from punto.messages.models import Part, Timestamp
from punto.runtime.table_ids import LONGEST_ID

PURPOSE: Final = b"punto head 1\n"
LARGEST_SEQ: Final = 10**18 - 1
"""The largest number of an input in a head."""
HeadText = Annotated[str, Field(pattern=r"^[1-9][0-9]{0,17}:[0-9a-f]{64}$")]
TableName = Annotated[str, Field(min_length=1, max_length=LONGEST_ID, pattern=r"^[^\x00-\x1f]+$")]


class HeadStatement(Part):
    """That the record of a table had this head at this time."""

    table: TableName
    record: Annotated[str, Field(pattern=r"^[0-9a-zA-Z-]{1,64}$")]
    head: HeadText
    ts: Annotated[Timestamp, Field(max_length=40, pattern=r"^[0-9T:.+Z-]+$")]

    @property
    def at(self) -> Head:
        """The head."""
        return Head.of(self.head)

    def body(self) -> bytes:
        """What is signed: the four fields, each on a line, in UTF-8."""
        return f"{self.table}\n{self.record}\n{self.head}\n{self.ts}\n".encode()


class SignedHead(HeadStatement):
    """A statement with the signer's public key and its signature, both in base64."""

    key: Annotated[str, Field(min_length=44, max_length=44)]
    signature: Annotated[str, Field(min_length=88, max_length=88)]

    @classmethod
    def of(cls, statement: HeadStatement, key: SigningKey) -> Self:
        """Sign a statement with this key."""
        signature = b64encode(key.sign(PURPOSE, statement.body())).decode()
        return cls(**statement.model_dump(), key=key.public, signature=signature)

    def holds(self) -> bool:
        """Whether the owner of the key signed it."""
        try:
            signature = b64decode(self.signature, validate=True)
            # One signature has one text: base64 leaves some bits of the last letter open.
            written = b64encode(signature).decode() == self.signature
            return written and signed_by(self.key, signature, PURPOSE, self.body())
        except ValueError:  # the key or the signature is no base64
            return False
