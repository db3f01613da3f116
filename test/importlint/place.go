package main

import "strings"

// prefix is how our own packages begin.
const prefix = "github.com/signalcast/signalcast/"

// layer is the height of a package inside a service.
type layer int

const (
	outside layer = iota // not inside a service
	root                 // package main of a service
	app
	adapter
	subject
	support // for tests only
)

// place says where a folder stands in the plan.
type place struct {
	module  string // pkg, proto, deploy, test, tools, cmd, sdk, or services/<name>
	layer   layer
	name    string // package of the layer: edge, signal, ...; for pkg its first folder
	service string
}

// placeOf reads the place from a folder, given from the root of the tree.
func placeOf(dir string) place {
	parts := strings.Split(dir, "/")
	switch {
	case parts[0] == "services" && len(parts) >= 2:
		p := place{module: parts[0] + "/" + parts[1], service: parts[1], layer: root, name: "main"}
		if len(parts) >= 4 && parts[2] == "internal" {
			p.name = parts[3]
			p.layer = layerOf(parts[3])
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
	case testOnly[name]:
		return support
	}
	return subject
}

// ours gives the place of an imported package, when it is one of ours.
func ours(importPath string) (place, bool) {
	dir, ok := strings.CutPrefix(importPath, prefix)
	if !ok {
		return place{}, false
	}
	return placeOf(dir), true
}
