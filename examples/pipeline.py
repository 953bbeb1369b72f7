"""Route a table of events on Spark, then let each subscriber act once per burst."""

from datetime import datetime, timedelta

from ramify import pipeline

spark = pipeline.session("local[2]")
spark.sparkContext.setLogLevel("ERROR")

START = datetime(2026, 1, 1, 12)
readings = [
    ("plant/1/temp", 0, 84.5),
    ("plant/2/temp", 1, 20.0),
    ("plant/1/temp", 3, 91.0),
    ("plant/1/flow", 60, 7.0),
]
events = spark.createDataFrame(
    [(topic, START + timedelta(seconds=after), (value,)) for topic, after, value in readings],
    "topic string, ts timestamp, fields struct<value: double>",
)
subscriptions = spark.createDataFrame(
    [
        ("s1", "operations", "mqtt", "plant/#", None),
        ("s2", "heat watch", "mqtt", "plant/+/temp", "value > 80"),
        ("s3", "flow desk", "glob", "*/flow", None),
        ("s4", "nobody", "mqtt", "plant/#/oops", None),
    ],
    "subscription_id string, subscriber string, dialect string, pattern string, where string",
)

routed = pipeline.route_with_rejects(events, subscriptions)
fired = pipeline.coalesce(routed.deliveries, key="subscriber", quiet="30s")
for row in fired.orderBy("fired_at", "subscriber").collect():
    print(f"{row.fired_at:%H:%M:%S}  {row.subscriber}: {row.topic} {row.fields.value} (of {row.merged})")
for row in routed.rejects.collect():
    print(f"set aside: {row.reason}")
spark.stop()
