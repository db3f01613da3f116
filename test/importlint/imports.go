package main

import (
	"fmt"
	"slices"
	"strings"
)

// lintImports returns the violations of the import rules in a file.
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

// badImport returns the message of each rule that one import of a file breaks. The parameter at is the place of the file. imp
// is the import path.
func badImport(f file, at place, imp string) []string {
	var bad []string
	say := func(format string, args ...any) { bad = append(bad, fmt.Sprintf(format, args...)) }
	to, own := placeOfImport(imp)
	if own && to.service != "" && to.service != at.service && !(to.layer == support && f.isTest()) {
		say("no module reaches into service %s; ask it over gRPC", to.service)
	}
	if own && to.layer == support && !f.isTest() && at.name != to.name {
		say("%s is for tests only", to.name)
	}
	if text := badAudience(f, imp); text != "" {
		say("%s", text)
	}
	switch {
	case at.module == "pkg" && own:
		if text := badPkg(f, at, to); text != "" {
			say("%s", text)
		}
	case at.layer != outside && at.layer != support && own && !f.isTest():
		if text := badService(at, to); text != "" {
			say("%s", text)
		}
	}
	return bad
}

// badAudience checks an import by a package below hubEdge, where each folder serves one audience of the hub. Such a package must
// import neither hubEdge itself nor a package of another audience. It may import a package below its own folder, or one next to
// it in the folder of the same audience. badAudience returns the message of the violation, or "" if there is none.
func badAudience(f file, imp string) string {
	at, inside := strings.CutPrefix(f.dir(), hubEdge+"/")
	to, toEdge := strings.CutPrefix(imp, prefix+hubEdge)
	if !inside || !toEdge || f.isTest() || slices.Contains(sharedByAudiences, strings.TrimPrefix(to, "/")) {
		return ""
	}
	audience, _, _ := strings.Cut(at, "/")
	if strings.HasPrefix(to, "/"+audience+"/") {
		return ""
	}
	return fmt.Sprintf("%s imports neither the router nor another audience", at)
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
	return fmt.Sprintf("pkg/%s does not import pkg/%s", at.name, to.name)
}

// badService checks an import between two packages. The parameters at and to are the places of the importing package, which
// belongs to a service, and of the imported package. Imports may go in only one direction: main → app → adapters → subjects →
// pkg/protocol, pkg/apperr. badService returns the message of the violation, or "" if there is none.
func badService(at, to place) string {
	if to.service == at.service {
		return badSibling(at, to)
	}
	if to.module != "pkg" {
		return "" // protobuf and other services have their own rules
	}
	switch at.layer {
	case subject:
		allowed := slices.Contains(subjectPkg, to.name) || slices.Contains(subjectMay[at.name], to.name)
		if !allowed && !(at.module == hubModule && to.name == "ledgerclient") {
			return fmt.Sprintf("a subject imports pkg/protocol and pkg/apperr, not pkg/%s", to.name)
		}
	case adapter:
		if !slices.Contains(everywhere, to.name) && !slices.Contains(adapters[at.name], to.name) {
			return fmt.Sprintf("%s does not import pkg/%s", at.name, to.name)
		}
	case root, app, outside, support: // these packages connect all other packages
	}
	return ""
}

func badSibling(at, to place) string {
	switch {
	case to.layer == root, to.layer == app && at.layer != root && at.layer != app:
		return fmt.Sprintf("%s is above %s", to.name, at.name)
	case at.layer == root && to.layer != app:
		return "main imports app only"
	case at.name == to.name, at.layer < adapter, to.layer == support:
		return ""
	case at.layer == adapter && to.layer == adapter:
		return fmt.Sprintf("adapters never import each other: %s knows %s", at.name, to.name)
	case at.layer == subject && to.layer == adapter:
		return fmt.Sprintf("subject %s imports adapter %s", at.name, to.name)
	case at.layer == subject && !slices.Contains(subjects[at.service][at.name], to.name):
		return fmt.Sprintf("subject %s does not know subject %s", at.name, to.name)
	}
	return ""
}
