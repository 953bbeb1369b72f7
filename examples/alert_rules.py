"""Find out who an alert reaches before it happens, and why somebody was missed."""

from ramify import Router

RULES = [
    ("ops", "plant/#", "level = 'critical'"),
    ("ops", "plant/+/temp", "value > 80 or value < -20"),
    ("berlin", "plant/berlin/#", "level in ('warning', 'critical') and not exists(ack)"),
    ("audit", "plant/#", "name like 'Pump%' and cost between 100 and 5000"),
]

router = Router()
for subscriber, pattern, where in RULES:
    router.subscribe(pattern, subscriber, where=where, id=f"{subscriber}: {where}")

event = {"level": "warning", "value": 84.5, "name": "Pump 7", "cost": 90}
print("who gets it:", sorted({entry.subscriber for entry in router.search("plant/berlin/temp", event)}))
for subscription in router:
    print(f"- {subscription.id}\n    {router.explain('plant/berlin/temp', event, subscription.id)}")
