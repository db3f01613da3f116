// Package container runs a private container engine, with its images and containers, and removes it without remains.
//
// The engine is dockerd in process and mount namespaces of its own. All its files are in one directory and all its cgroups
// below one name. It listens on a socket in that directory. It has no network, or networks in a namespace of its own. It
// requires Linux and root.
package container
