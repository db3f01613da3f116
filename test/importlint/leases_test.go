package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLeasesDiffer checks that no two parts use the same number of an advisory lock. All services share one set of
// these numbers, so two parts with the same number would block each other. The numbers are constants in Go and literals
// in SQL statements.
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
				t.Errorf("the lease number %s is used by %s and by %s", n, other, path)
			}
			seen[n] = path
		}
		return err
	})
	if err != nil || len(seen) < 8 {
		t.Errorf("%d leases were found, error %v", len(seen), err)
	}
}
