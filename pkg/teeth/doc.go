// Package teeth plants faults on purpose, so that a check can be seen to fail: a
// check that has never failed proves nothing.
//
// A fault is one line beside the code that it breaks:
//
//	if teeth.Bites("A7") { … }
//
// In an ordinary build Bites is the constant false and the compiler leaves the
// line out. With the build tag `teeth` it is true for the one fault that the
// environment names in TEETH, and never when ENV is production. A fault is named
// like the promise that it breaks; `make teeth` plants them one at a time.
//
// Faults that a setting, a statement on the test database or a second process
// can bring about need no line here, and most do not have one.
package teeth
