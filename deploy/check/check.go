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

// secret matches the names of settings that contain secrets. PAYOUT_USDC_ADDRESS and RATE_LIMIT_KEY are not among them.
var secret = regexp.MustCompile(`(SECRET|PASSWORD|TOKEN|HUB_KEYS|CHECKPOINT_KEY|API_KEY|AUTH$|DATABASE_URL|REDIS_URL|SMTP_URL|IDP_PROVIDERS)`)

const (
	// marker is a part of every secret of the file for local use. Production refuses secrets that contain it.
	marker = "development"
	// markerSeed is the beginning of marker in hexadecimal digits, for the seed of a key.
	markerSeed = "646576656c6f"
)

// local matches values that only the file for local use may contain: its secrets, its issuer and its venues.
var local = regexp.MustCompile(marker + "|" + markerSeed + "|signalcast-dev|//(venues|idp|127\\.0\\.0\\.1):")

// Services that compose.yaml must define. The overlay for production must not start those for development.
var (
	needed      = []string{"postgres", "redis", "migrate-api", "migrate-hub", "migrate-clock", "api", "hub", "clock"}
	development = []string{"venues", "idp"}
)

// checkLocal returns the violations of the compose file for local use: it must start without variables, with hardened services
// and with secrets that cannot be used in production.
func checkLocal(ctx context.Context, files ...file) []string {
	found, project := checkProject(ctx, files, append(slices.Clone(needed), development...))
	for _, d := range variables(join(files)) {
		if d.required {
			found = append(found, d.name+" is required; the file must start without variables")
		}
	}
	for _, s := range services(project) {
		for name, value := range s.Environment {
			if value == nil || !secret.MatchString(name) || *value == "" {
				continue
			}
			if !local.MatchString(*value) {
				found = append(found, s.Name+": "+name+" does not contain the word "+marker)
			}
		}
	}
	slices.Sort(found)
	return found
}

// checkProduction returns the violations of the compose file with its overlay for production: every secret must be a required
// variable whose error text names it, and nothing of the parts for development may be left.
func checkProduction(ctx context.Context, files ...file) []string {
	found, project := checkProject(ctx, files, needed)
	for _, s := range services(project) {
		if slices.Contains(development, s.Name) {
			found = append(found, s.Name+" is started in production")
		}
		for name, value := range s.Environment {
			if value == nil || *value == "" {
				continue // the setting has the default of the service
			}
			if secret.MatchString(name) && !strings.Contains(*value, filler) {
				found = append(found, s.Name+": "+name+" is a secret; it must be a required variable, ${NAME:?text with NAME}")
			}
			if local.MatchString(*value) {
				found = append(found, s.Name+": "+name+" has a value of the file for local use")
			}
		}
	}
	if len(found) == 0 { // it takes a second
		for _, d := range variables(join(files)) {
			if !d.required {
				continue
			}
			if _, err := load(ctx, files, d.name); err == nil {
				found = append(found, d.name+" is marked as required, but the files load without it")
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// services returns the services of a project that Compose starts by default, in the order of their names. The project may be nil.
func services(project *types.Project) (out []types.ServiceConfig) {
	if project == nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(project.Services)) {
		if len(project.Services[name].Profiles) == 0 {
			out = append(out, project.Services[name])
		}
	}
	return out
}

// checkProject returns the violations of compose files that apply to local use and to production, and the loaded project. If the
// files cannot be loaded, the project is nil.
func checkProject(ctx context.Context, files []file, needed []string) ([]string, *types.Project) {
	found := checkText(join(files))
	project, err := load(ctx, files, "")
	if err != nil {
		return append(found, "does not load: "+err.Error()), nil
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
	return found, project
}

// checkText returns the violations that only the text of a compose file shows: a top-level name and a syntax line.
func checkText(text []byte) (found []string) {
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("name:")) {
			found = append(found, "it has a top-level name:, which older versions of Compose refuse")
		}
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("# syntax=")) {
			found = append(found, "it has a syntax line, which would pull a frontend image")
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
	refuse(s.Image == "", "it names no image, so that another one cannot replace it")
	refuse(s.NetworkMode != "" || s.Pid != "" || s.Ipc != "", "it shares a namespace of the host")
	refuse(len(s.Networks) == 0, "it uses the default network; list its networks")
	refuse(!healthy(s), "it has no health check")
	for _, p := range s.Ports {
		refuse(p.HostIP != "127.0.0.1", "port %s is published on every address; publish it on 127.0.0.1", p.Published)
	}
	for _, v := range s.Volumes {
		refuse(v.Type == types.VolumeTypeBind, "it mounts %s of the host; use a volume", v.Source)
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
