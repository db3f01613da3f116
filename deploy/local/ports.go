package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/signalcast/signalcast/pkg/localdb"
)

// fixedPorts contains the default ports of the listeners that developers open.
var fixedPorts = map[string]int{"hub": 8080, "api": 8081, "clock": 8082, "origin": 8083}

// checkPorts returns an error if another program uses a port in fixed.
func checkPorts(fixed map[string]int) error {
	for _, name := range slices.Sorted(maps.Keys(fixed)) {
		if !localdb.PortFree(fixed[name]) {
			return fmt.Errorf("port %d of %s is in use; stop the program that uses it, or start with --ports auto "+
				`(make up ARGS="--ports auto")`, fixed[name], name)
		}
	}
	return nil
}

// choosePorts returns a port for every name: the port in fixed, or else a free port. It reuses the free ports of the last run,
// because the identities of users contain the URL of the issuer. It returns an error if a fixed port is in use.
func choosePorts(s *state, names []string, fixed map[string]int) (map[string]int, error) {
	if err := checkPorts(fixed); err != nil {
		return nil, err
	}
	last := map[string]int{}
	if err := readJSON(s.path(portsFile), &last); err != nil {
		return nil, err
	}
	chosen := map[string]int{}
	taken := map[int]bool{}
	for _, name := range names {
		port, isFixed := fixed[name]
		switch {
		case isFixed:
		case last[name] != 0 && !taken[last[name]] && localdb.PortFree(last[name]):
			port = last[name]
		default:
			var err error
			if port, err = anotherPort(taken); err != nil {
				return nil, err
			}
		}
		chosen[name] = port
		taken[port] = true
	}
	keep := maps.Clone(last)
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		if _, isFixed := fixed[name]; !isFixed {
			keep[name] = chosen[name]
		}
	}
	return chosen, writeJSON(s.path(portsFile), keep)
}

func anotherPort(taken map[int]bool) (int, error) {
	for {
		port, err := localdb.FreePort()
		if err != nil || !taken[port] {
			return port, err
		}
	}
}
