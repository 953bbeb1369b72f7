"""Finding the subscriptions that want an event without testing the others."""
