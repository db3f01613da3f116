package main

import (
	"fmt"
	"strings"
	"time"
)

// tier is what stops together: who calls goes before who is called.
type tier struct {
	members []*process
	grace   time.Duration
}

// tiers sorts what runs into the order of stopping. The hubs, which drain their
// callers, get the most time; together the graces leave two seconds for Postgres.
func tiers(running []*process) []tier {
	out := []tier{{grace: 4 * time.Second}, {grace: 1500 * time.Millisecond}, {grace: 1500 * time.Millisecond}, {grace: 500 * time.Millisecond}}
	for _, p := range running {
		i := 3
		switch p.binary {
		case "hub":
			i = 0
		case "clock":
			i = 1
		case "api":
			i = 2
		}
		out[i].members = append(out[i].members, p)
	}
	return out
}

// pairs reads name=value settings.
func pairs(settings []string) (map[string]string, error) {
	out := map[string]string{}
	for _, s := range settings {
		name, value, ok := strings.Cut(s, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("--set %q is not name=value", s)
		}
		out[name] = value
	}
	return out, nil
}
