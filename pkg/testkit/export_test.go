package testkit

// UnderRace tells the tests what ConstantTime goes by.
const UnderRace = underRace
