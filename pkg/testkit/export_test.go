package testkit

// UnderRace reports whether the race detector is enabled, which disables the verdict of ConstantTime.
const UnderRace = underRace
