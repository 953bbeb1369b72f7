"""The example of the README."""

from ramify import Router

router = Router()
hot = router.subscribe("plant/+/temp", subscriber="alice", where="value > 30", data={"unit": "C"})
router.subscribe("plant/#", subscriber="bob")
router.subscribe("*/temp", subscriber="carol", dialect="glob", where="site in ('berlin', 'rome')")

event = {"value": 31, "site": "berlin"}
for match in router.match("plant/7/temp", event):
    subscription = match.subscription
    print(subscription.subscriber, "wants it:", subscription.pattern.text, subscription.criteria.text)

print(router.explain("plant/7/temp", {"value": 3}, hot.id))
print(router.plan(hot))
