package main

import (
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// filler is the value that load gives to every required variable. It is long enough for a secret.
const filler = "0123456789abcdef0123456789abcdef"

// variable matches ${NAME}, ${NAME:-default} and ${NAME:?text}.
var variable = regexp.MustCompile(`\$\{([A-Z][A-Z0-9_]*)(:?[-?])?([^}]*)\}`)

// interpolation is a variable of compose files and the forms in which they use it.
type interpolation struct {
	name     string
	required bool // every use has the form ${NAME:?text}, and text contains NAME
	fallback bool // a use has a default value
}

// variables returns the variables in the text of compose files, in the order of their first use.
func variables(text []byte) []interpolation {
	var all []interpolation
	for _, m := range variable.FindAllSubmatch(text, -1) {
		name, kind, rest := string(m[1]), string(m[2]), string(m[3])
		i := slices.IndexFunc(all, func(d interpolation) bool { return d.name == name })
		if i < 0 {
			all = append(all, interpolation{name: name, required: true})
			i = len(all) - 1
		}
		all[i].required = all[i].required && kind == ":?" && strings.Contains(rest, name)
		all[i].fallback = all[i].fallback || kind == ":-" && rest != "" || kind == "-" && rest != ""
	}
	return all
}

// file is one compose file.
type file struct {
	name string
	text []byte
}

// join returns the texts of the files, one after another.
func join(files []file) (all []byte) {
	for _, f := range files {
		all = append(all, f.text...)
	}
	return all
}

// load parses the compose files; each overrides the ones before. It sets every required variable to filler, except the variable
// with the name in the parameter without.
func load(ctx context.Context, files []file, without string) (*types.Project, error) {
	env := types.Mapping{}
	for _, d := range variables(join(files)) {
		if d.required && d.name != without {
			env[d.name] = filler
		}
	}
	details := types.ConfigDetails{WorkingDir: ".", Environment: env}
	for _, f := range files {
		details.ConfigFiles = append(details.ConfigFiles, types.ConfigFile{Filename: f.name, Content: f.text})
	}
	return loader.LoadWithContext(ctx, details, func(o *loader.Options) { o.SetProjectName("signalcast", true) })
}
