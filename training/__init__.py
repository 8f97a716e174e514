"""What howsteps ships ready-made is made here: the parser and the WordNet table."""
