package main

import (
	"context"
	"regexp"
	"slices"

	"github.com/compose-spec/compose-go/v2/loader"
	"github.com/compose-spec/compose-go/v2/types"
)

// filler is long enough for every secret and harmless in every place.
const filler = "0123456789abcdef0123456789abcdef"

// variable matches ${NAME}, ${NAME:-default} and ${NAME:?text}.
var variable = regexp.MustCompile(`\$\{([A-Z][A-Z0-9_]*)(:?[-?])?([^}]*)\}`)

// demand is one variable of the file and how each place asks for it.
type demand struct {
	name     string
	required bool // every place stops without it
	fallback bool // some place has a default text
}

// demands lists the variables of the file by name.
func demands(text []byte) []demand {
	var all []demand
	for _, m := range variable.FindAllSubmatch(text, -1) {
		name, kind, rest := string(m[1]), string(m[2]), string(m[3])
		i := slices.IndexFunc(all, func(d demand) bool { return d.name == name })
		if i < 0 {
			all = append(all, demand{name: name, required: true})
			i = len(all) - 1
		}
		all[i].required = all[i].required && kind == ":?"
		all[i].fallback = all[i].fallback || kind == ":-" && rest != "" || kind == "-" && rest != ""
	}
	return all
}

// load reads the file with a value for every required variable but one.
func load(ctx context.Context, text []byte, without string) (*types.Project, error) {
	env := types.Mapping{}
	for _, d := range demands(text) {
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
