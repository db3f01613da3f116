// Package container starts a container engine of its own, asks it for images and
// containers, and ends it so that nothing of it is left.
//
// The engine is dockerd. It runs in process and mount namespaces of its own, keeps all
// files in one folder and all groups of processes below one name, listens at a socket in
// that folder, and makes no network, or makes them in a namespace of its own. It needs Linux
// and root.
package container
