"""The token bucket alone."""

from punto.runtime.bucket import Bucket


def test_what_is_owed_is_waited_for():
    bucket = Bucket(at_once=2, per_second=4.0)
    assert bucket.wait(0.0) == 0.0

    bucket.take(3)

    assert bucket.wait(0.0) == 0.25
    assert not bucket.has(0, 0.2)
    assert bucket.wait(0.25) == 0.0
