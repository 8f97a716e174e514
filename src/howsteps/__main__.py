"""``python -m howsteps``: the command line, where the program itself is not on the path."""

from howsteps._cli.app import main

if __name__ == "__main__":
    main()
