// Package container runs a private container engine with its images and containers, and removes them afterwards.
//
// The engine is a dockerd in separate process and mount namespaces. Its files are in one directory, and its cgroups have one
// parent. With the option Data, images and volumes are in another directory, which is not removed. The engine listens on a
// Unix socket. By default it has no networks. With the option Networks, its networks are in a separate network namespace. The
// package requires Linux and root permissions.
package container
