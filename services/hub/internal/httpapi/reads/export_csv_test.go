package reads

import (
	"slices"
	"testing"
)

func TestNewMembersAreColumns(t *testing.T) {
	t.Parallel()
	old := slices.DeleteFunc(slices.Clone(csvColumns), func(name string) bool { return name == "lane" || name == "score" })
	got := withNewMembers(slices.Clone(old))
	last := len(got) - 1
	if want := []string{"lane", "score", "events"}; !slices.Equal(got[last-2:], want) || !slices.Equal(got[:last-2], old[:len(old)-1]) {
		t.Errorf("columns end with %q; want %q", got[last-2:], want)
	}
}
