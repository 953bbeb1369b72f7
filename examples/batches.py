"""Match a whole table at once, through a file that any process can map."""

import tempfile
from pathlib import Path

import pyarrow as pa

from ramify import FrozenIndex, Router

router = Router()
for customer in range(1_000):
    router.subscribe("orders/+", f"customer-{customer}", where=f"customer_id = {customer}", id=f"c{customer}")
router.subscribe("orders/big", "sales", where="amount >= 5000", id="big")

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder, "subscriptions.arrow")
    router.freeze().save(file)
    frozen = FrozenIndex.open(file)
    topics = pa.array(["orders/new", "orders/big", "orders/new"])
    fields = pa.array(
        [
            {"customer_id": 7, "amount": 20},
            {"customer_id": 7, "amount": 9000},
            {"customer_id": 4711, "amount": 1},
        ]
    )
    print(frozen.match_batch(topics, fields).to_pydict())
