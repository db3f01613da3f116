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

// secret matches the names of settings that contain secrets and therefore must not have a default value.
var secret = regexp.MustCompile(`(SECRET|PASSWORD|TOKEN|PRIVATE|IDP_PROVIDERS)`)

// needed lists the services that compose.yaml must define.
var needed = []string{"postgres", "redis", "migrate-api", "migrate-hub", "migrate-clock", "api", "hub", "clock"}

// check returns the violations of a compose file. They concern, in this order: the text, the variables, missing services,
// each service in the order of the names, and the network named data. If the file cannot be loaded, check returns only the
// violations of the text and the error of loading.
func check(ctx context.Context, text []byte) []string {
	found := checkText(text)
	project, err := load(ctx, text, "")
	if err != nil {
		return append(found, "does not load: "+err.Error())
	}
	for _, d := range variables(text) {
		if !d.required {
			continue
		}
		if _, err := load(ctx, text, d.name); err == nil {
			found = append(found, d.name+" is marked as required, but the file loads without it")
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
	if n, ok := project.Networks["data"]; !ok || !n.Internal {
		found = append(found, "network data is not internal")
	}
	return found
}

// checkText returns the violations that only the text of the compose file shows: a top-level name, a syntax line, and a secret
// that is not required.
func checkText(text []byte) []string {
	var found []string
	for _, line := range bytes.Split(text, []byte("\n")) {
		if bytes.HasPrefix(line, []byte("name:")) {
			found = append(found, "it has a top-level name:, which older versions of Compose refuse")
		}
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("# syntax=")) {
			found = append(found, "it has a syntax line, which would pull a frontend image")
		}
	}
	for _, d := range variables(text) {
		if secret.MatchString(d.name) && (!d.required || d.fallback) {
			found = append(found, d.name+" is a secret; every use must have the form ${NAME:?text}")
		}
	}
	return found
}

// checkService returns the violations of one service, sorted.
func checkService(s types.ServiceConfig) []string {
	var found []string
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			found = append(found, fmt.Sprintf(format, args...))
		}
	}
	uid, _, _ := strings.Cut(s.User, ":")
	refuse(!s.ReadOnly, "its file system is writable; set read_only")
	refuse(!slices.Contains(s.CapDrop, "ALL") || len(s.CapAdd) > 0, "it has capabilities; drop ALL and add none")
	refuse(!slices.Contains(s.SecurityOpt, "no-new-privileges:true"), "it can gain privileges; set no-new-privileges")
	refuse(s.Privileged, "it is privileged")
	refuse(uid == "" || uid == "0" || uid == "root", "it runs as root")
	refuse(s.MemLimit <= 0, "it has no memory limit")
	refuse(s.PidsLimit <= 0, "it has no process limit")
	refuse(!readOnly(s, "/dev/shm") && s.ShmSize == 0, "its /dev/shm is writable; mount it read-only or set shm_size")
	refuse(!readOnly(s, "/dev/mqueue"), "its /dev/mqueue is writable; mount it read-only")
	refuse(s.Image == "" || s.Build != nil, "it must name an image instead of a build")
	refuse(s.NetworkMode != "" || s.Pid != "" || s.Ipc != "", "it shares a namespace of the host")
	refuse(len(s.Networks) == 0, "it uses the default network; list its networks")
	refuse(!healthy(s), "it has no health check")
	for _, p := range s.Ports {
		refuse(p.HostIP != "127.0.0.1", "port %s is published on every address; publish it on 127.0.0.1", p.Published)
	}
	for _, v := range s.Volumes {
		refuse(v.Type == types.VolumeTypeBind, "it mounts %s of the host; use a volume", v.Source)
	}
	for name, value := range s.Environment {
		if secret.MatchString(name) && value != nil {
			refuse(*value != filler, "%s has a value in the file; use a variable", name)
		}
	}
	slices.Sort(found)
	return found
}

// readOnly reports whether the service mounts folder as a read-only tmpfs. Container engines leave some folders writable in a
// read-only file system.
func readOnly(s types.ServiceConfig, folder string) bool {
	return slices.Contains(s.Tmpfs, folder+":ro")
}

// healthy reports whether a service has a health check. A migration needs none, because other services wait for its exit. For a
// migration, healthy reports whether it restarts only on failure.
func healthy(s types.ServiceConfig) bool {
	if strings.HasPrefix(s.Name, "migrate-") {
		return s.Restart == types.RestartPolicyOnFailure
	}
	return s.HealthCheck != nil && !s.HealthCheck.Disable && len(s.HealthCheck.Test) > 0
}
