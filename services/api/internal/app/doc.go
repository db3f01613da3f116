// Package app reads the configuration of the api service, builds its parts and runs them. It is the only package that imports
// all other packages of the service.
package app
