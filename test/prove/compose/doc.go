// Command compose runs the whole of compose.yaml: it builds all images, starts an engine
// of its own with networks that reach nothing else, brings everything up, signs somebody
// in, files one call through the hub, and takes everything down again.
//
//	make compose-test
//	make compose-test ARGS="-keep DIR"    with the images in a folder, for the next time
//
// It needs root, dockerd, docker-compose, debootstrap and Debian's packages, and takes some
// minutes the first time. The identity provider is that of development, for which the
// services run in that environment; everything else is as compose.yaml has it.
package main
