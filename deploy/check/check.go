package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/compose-spec/compose-go/v2/types"
)

// secret matches the names of settings that must never have a default.
var secret = regexp.MustCompile(`(SECRET|PASSWORD|TOKEN|PRIVATE|IDP_PROVIDERS)`)

// needed are the parts that the stack is made of.
var needed = []string{"postgres", "redis", "migrate-api", "migrate-hub", "migrate-clock", "api", "hub", "clock"}

// check lists what is wrong with a compose file, best reason first.
func check(ctx context.Context, text []byte) []string {
	found := checkText(text)
	project, err := load(ctx, text, "")
	if err != nil {
		return append(found, "does not load: "+err.Error())
	}
	for _, d := range demands(text) {
		if !d.required {
			continue
		}
		if _, err := load(ctx, text, d.name); err == nil {
			found = append(found, d.name+" is marked as required, yet the file loads without it")
		}
	}
	for _, name := range needed {
		if _, ok := project.Services[name]; !ok {
			found = append(found, name+" is missing")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(project.Services)) {
		for _, text := range checkService(project.Services[name]) {
			found = append(found, name+": "+text)
		}
	}
	if n, ok := project.Networks["data"]; !ok || !bool(n.Internal) {
		found = append(found, "network data is not internal")
	}
	return found
}

// checkText looks at what is gone once the file is loaded.
func checkText(text []byte) []string {
	var found []string
	for _, line := range bytes.Split(text, []byte("\n")) {
		if bytes.HasPrefix(line, []byte("name:")) {
			found = append(found, "a top-level name: older Compose refuses it")
		}
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("# syntax=")) {
			found = append(found, "a syntax line would pull a frontend image")
		}
	}
	for _, d := range demands(text) {
		if secret.MatchString(d.name) && (!d.required || d.fallback) {
			found = append(found, d.name+" is a secret and not required everywhere it is used")
		}
	}
	return found
}

// checkService lists what one part is missing.
func checkService(s types.ServiceConfig) []string {
	var bad []string
	say := func(wrong bool, format string, args ...any) {
		if wrong {
			bad = append(bad, fmt.Sprintf(format, args...))
		}
	}
	uid, _, _ := strings.Cut(s.User, ":")
	say(!s.ReadOnly, "its file system can be written")
	say(!slices.Contains(s.CapDrop, "ALL") || len(s.CapAdd) > 0, "it keeps capabilities")
	say(!slices.Contains(s.SecurityOpt, "no-new-privileges:true"), "it can gain privileges")
	say(s.Privileged, "it is privileged")
	say(uid == "" || uid == "0" || uid == "root", "it runs as root")
	say(s.MemLimit <= 0, "it has no memory limit")
	say(s.PidsLimit <= 0, "it has no process limit")
	say(!closed(s, "/dev/shm") && s.ShmSize == 0, "its /dev/shm can be written, and no size says why")
	say(!closed(s, "/dev/mqueue"), "its /dev/mqueue can be written")
	say(s.Image == "" || s.Build != nil, "it has no image of its own")
	say(s.NetworkMode != "" || s.Pid != "" || s.Ipc != "", "it shares a namespace of the host")
	say(len(s.Networks) == 0, "it is on the default network")
	say(!healthy(s), "it has no health check")
	for _, p := range s.Ports {
		say(p.HostIP != "127.0.0.1", "port %s is open to the world", p.Published)
	}
	for _, v := range s.Volumes {
		say(v.Type == types.VolumeTypeBind, "it mounts %s of the host", v.Source)
	}
	for name, value := range s.Environment {
		if secret.MatchString(name) && value != nil {
			say(*value != filler, "%s has a value in the file", name)
		}
	}
	slices.Sort(bad)
	return bad
}

// closed tells whether nothing can be written in a folder that an engine leaves open.
func closed(s types.ServiceConfig, folder string) bool {
	return slices.Contains(s.Tmpfs, folder+":ro")
}

// healthy wants a health check of everything that stays; a migration ends,
// and who needs it waits for its exit.
func healthy(s types.ServiceConfig) bool {
	if strings.HasPrefix(s.Name, "migrate-") {
		return s.Restart == types.RestartPolicyOnFailure
	}
	return s.HealthCheck != nil && !s.HealthCheck.Disable && len(s.HealthCheck.Test) > 0
}
