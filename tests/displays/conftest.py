import pytest_asyncio

from tests.displays.parts import Broker


@pytest_asyncio.fixture
async def broker(tmp_path):
    running = Broker(tmp_path)
    await running.start()
    yield running
    running.kill()
