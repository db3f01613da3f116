// Package container runs a private container engine with its images and containers, and removes them afterwards.
//
// The engine is a dockerd in separate process and mount namespaces. All its files are in one directory, and all its cgroups have
// one parent. It listens on a Unix socket in that directory. By default the engine has no networks. With the option Networks, its
// networks are in a separate network namespace. The package requires Linux and root permissions.
package container
