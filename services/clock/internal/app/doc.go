// Package app builds and runs the clock service. It reads Config from the environment and implements the commands `serve`,
// `migrate` and `timeline`. It is the only package of the service that imports all the others.
package app
