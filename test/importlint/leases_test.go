package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestLeasesDiffer checks that all advisory locks of the services have different numbers. The services share one number space,
// so two parts with the same number would block each other. The numbers are constants in Go and literals in SQL statements.
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
