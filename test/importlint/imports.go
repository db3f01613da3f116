package main

import (
	"fmt"
	"slices"
	"strings"
)

// lintImports returns the imports of a file that violate a rule.
func lintImports(f file) []violation {
	var found []violation
	at := placeOf(f.dir())
	for _, i := range f.syntax.Imports {
		for _, text := range badImport(f, at, strings.Trim(i.Path.Value, "\"`")) {
			found = append(found, violation{f.path, f.line(i.Pos()), "import", text})
		}
	}
	return found
}

// badImport returns a message for each rule that one import violates.
func badImport(f file, at place, imp string) []string {
	var bad []string
	add := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	to, own := placeOfImport(imp)
	if own && to.service != "" && to.service != at.service && !(to.layer == support && f.isTest()) {
		add("no other module may import packages of service %s; call the service over gRPC", to.service)
	}
	if own && to.layer == support && !f.isTest() && at.name != to.name {
		add("only tests may import %s", to.name)
	}
	if text := badAudience(f, imp); text != "" {
		add("%s", text)
	}
	switch {
	case at.module == "pkg" && own:
		if text := badPkg(f, at, to); text != "" {
			add("%s", text)
		}
	case at.layer != outside && at.layer != support && own && !f.isTest():
		if text := badService(at, to); text != "" {
			add("%s", text)
		}
	}
	return bad
}

// badAudience checks an import in a package for one audience of the hub, that is, a package below its HTTP handlers.
// Such a package must not import the router or the package of another audience. badAudience returns a message, or an
// empty string.
func badAudience(f file, imp string) string {
	at, inside := strings.CutPrefix(f.dir(), hubEdge+"/")
	to, toEdge := strings.CutPrefix(imp, prefix+hubEdge)
	if !inside || !toEdge || f.isTest() || slices.Contains(sharedByAudiences, strings.TrimPrefix(to, "/")) {
		return ""
	}
	return fmt.Sprintf("%s must not import the router or the package of another audience", at)
}

func badPkg(f file, at, to place) string {
	switch {
	case to.module != "pkg": // a rule of .golangci.yml
		return ""
	case to.name == at.name, to.name == "apperr", slices.Contains(pkgMay[at.name], to.name):
		return ""
	case f.isTest() && to.name == "testkit":
		return ""
	}
	return fmt.Sprintf("pkg/%s must not import pkg/%s", at.name, to.name)
}

// badService checks an import within a service, where imports have one direction: main → app → adapters → subjects →
// pkg/protocol, pkg/apperr. It returns a message, or an empty string.
func badService(at, to place) string {
	if to.service == at.service {
		return badSibling(at, to)
	}
	if to.module != "pkg" {
		return "" // other functions check protobuf and other services
	}
	switch at.layer {
	case subject:
		allowed := slices.Contains(subjectPackages, to.name) || slices.Contains(subjectMayImport[at.name], to.name)
		if !allowed && !(at.module == hubModule && to.name == "ledgerclient") {
			return fmt.Sprintf("a subject must not import pkg/%s", to.name)
		}
	case adapter:
		if !slices.Contains(commonPackages, to.name) && !slices.Contains(adapters[at.name], to.name) {
			return fmt.Sprintf("%s must not import pkg/%s", at.name, to.name)
		}
	case root, app, outside, support: // these packages may import all of pkg
	}
	return ""
}

func badSibling(at, to place) string {
	switch {
	case to.layer == root, to.layer == app && at.layer != root && at.layer != app:
		return fmt.Sprintf("%s must not import %s, which is in a higher layer", at.name, to.name)
	case at.layer == root && to.layer != app:
		return "main may import only app"
	case at.name == to.name, at.layer < adapter, to.layer == support:
		return ""
	case at.layer == adapter && to.layer == adapter:
		return fmt.Sprintf("adapters must not import each other: %s imports %s", at.name, to.name)
	case at.layer == subject && to.layer == adapter:
		return fmt.Sprintf("subject %s must not import adapter %s", at.name, to.name)
	case at.layer == subject && !slices.Contains(subjects[at.service][at.name], to.name):
		return fmt.Sprintf("subject %s must not import subject %s", at.name, to.name)
	}
	return ""
}
