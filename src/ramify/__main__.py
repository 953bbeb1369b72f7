"""`python -m ramify` is `ramify`."""

from ramify.cli import main

if __name__ == "__main__":
    main()
