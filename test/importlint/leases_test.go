package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLeasesDiffer: all services share one space of advisory locks, so two parts with one number would delay each other. The
// numbers are constants of Go and literals of statements.
func TestLeasesDiffer(t *testing.T) {
	t.Parallel()
	lease := regexp.MustCompile(`(?m)^.*\bint64 = (7201\d{3})\b|advisory\w*lock\((7201\d{3})\)`)
	seen := map[string]string{}
	err := filepath.WalkDir("../../services", func(path string, d fs.DirEntry, err error) error {
		code := strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go") && !strings.HasSuffix(path, ".sql.go")
		statements := strings.HasSuffix(path, ".sql") && !strings.Contains(path, "migrations")
		if err != nil || !code && !statements {
			return err
		}
		text, err := os.ReadFile(path)
		for _, m := range lease.FindAllSubmatch(text, -1) {
			n := string(m[1]) + string(m[2])
			if other, twice := seen[n]; twice {
				t.Errorf("lease %s is that of %s and of %s", n, other, path)
			}
			seen[n] = path
		}
		return err
	})
	if err != nil || len(seen) < 8 {
		t.Errorf("%d leases, %v", len(seen), err)
	}
}
