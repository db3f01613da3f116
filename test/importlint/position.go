package main

import "strings"

// prefix is the beginning of the import paths of this repository.
const prefix = "github.com/signalcast/signalcast/"

// layer is the layer of a package inside a service. In general, a package imports only packages of layers with a higher number.
type layer int

const (
	outside layer = iota // not inside a service
	root                 // package main of a service
	app
	adapter
	subject
	support // for tests only
)

// place describes the position of a folder in the architecture: its module, its layer and its service.
type place struct {
	module  string // pkg, proto, deploy, test, tools, cmd, sdk, or services/<name>
	layer   layer
	name    string // package of the layer: httpapi, signal, ...; for pkg its first folder
	service string
}

// placeOf returns the place of a folder. dir is the path of the folder from the root of the repository.
func placeOf(dir string) place {
	parts := strings.Split(dir, "/")
	switch {
	case parts[0] == "services" && len(parts) >= 2:
		p := place{module: parts[0] + "/" + parts[1], service: parts[1], layer: root, name: "main"}
		switch {
		case len(parts) >= 4 && parts[2] == "internal":
			p.name, p.layer = parts[3], layerOf(parts[3])
		case len(parts) == 3 && testOnly[parts[2]]:
			p.name, p.layer = parts[2], support
		}
		return p
	case parts[0] == "pkg" && len(parts) >= 2:
		return place{module: "pkg", name: parts[1]}
	default:
		return place{module: parts[0], name: parts[len(parts)-1]}
	}
}

func layerOf(name string) layer {
	switch {
	case name == "app":
		return app
	case adapters[name] != nil:
		return adapter
	}
	return subject
}

// placeOfImport returns the place of an imported package. The result is false for packages outside this repository.
func placeOfImport(importPath string) (place, bool) {
	dir, ok := strings.CutPrefix(importPath, prefix)
	if !ok {
		return place{}, false
	}
	return placeOf(dir), true
}
