package main

import (
	"context"
	"regexp"
	"slices"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// filler is the value that load gives to every required variable. It is long enough for a secret.
const filler = "0123456789abcdef0123456789abcdef"

// variable matches ${NAME}, ${NAME:-default} and ${NAME:?text}.
var variable = regexp.MustCompile(`\$\{([A-Z][A-Z0-9_]*)(:?[-?])?([^}]*)\}`)

// interpolation is a variable of the compose file and the forms in which the file uses it.
type interpolation struct {
	name     string
	required bool // every use has the form ${NAME:?text}
	fallback bool // a use has a default value
}

// variables returns the variables of the compose file in the order of their first use.
func variables(text []byte) []interpolation {
	var all []interpolation
	for _, m := range variable.FindAllSubmatch(text, -1) {
		name, kind, rest := string(m[1]), string(m[2]), string(m[3])
		i := slices.IndexFunc(all, func(d interpolation) bool { return d.name == name })
		if i < 0 {
			all = append(all, interpolation{name: name, required: true})
			i = len(all) - 1
		}
		all[i].required = all[i].required && kind == ":?"
		all[i].fallback = all[i].fallback || kind == ":-" && rest != "" || kind == "-" && rest != ""
	}
	return all
}

// load parses the compose file. It sets every required variable to filler, except the variable with the name in the parameter
// without.
func load(ctx context.Context, text []byte, without string) (*types.Project, error) {
	env := types.Mapping{}
	for _, d := range variables(text) {
		if d.required && d.name != without {
			env[d.name] = filler
		}
	}
	return loader.LoadWithContext(ctx, types.ConfigDetails{
		WorkingDir:  ".",
		ConfigFiles: []types.ConfigFile{{Filename: "compose.yaml", Content: text}},
		Environment: env,
	}, func(o *loader.Options) { o.SetProjectName("signalcast", true) })
}
