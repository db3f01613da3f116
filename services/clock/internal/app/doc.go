// Package app builds the clock from its parts and gives it a life: Config from
// the environment, New and Run, and the commands `serve`, `migrate` and
// `timeline`. It is the only package that knows all the others, and the only
// one that reads the real time.
package app
