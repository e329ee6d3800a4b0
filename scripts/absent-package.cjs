// Stands for optional packages that dependencies look for and that we do not ship.
