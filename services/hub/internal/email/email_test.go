package email

import (
	"testing"
	"time"
)

// TestPeriodsOfDigests checks the ends of periods: daily at 08:00 UTC, weekly on Mondays.
func TestPeriodsOfDigests(t *testing.T) {
	t.Parallel()
	for now, want := range map[string][2]string{ // daily, weekly
		"2026-09-18T12:00:00Z":      {"2026-09-18T08:00:00Z", "2026-09-14T08:00:00Z"},
		"2026-09-18T07:59:59Z":      {"2026-09-17T08:00:00Z", "2026-09-14T08:00:00Z"},
		"2026-09-21T07:59:59Z":      {"2026-09-20T08:00:00Z", "2026-09-14T08:00:00Z"},
		"2026-09-21T08:00:00Z":      {"2026-09-21T08:00:00Z", "2026-09-21T08:00:00Z"},
		"2026-09-27T23:59:59Z":      {"2026-09-27T08:00:00Z", "2026-09-21T08:00:00Z"},
		"2026-03-01T09:30:00+02:00": {"2026-02-28T08:00:00Z", "2026-02-23T08:00:00Z"},
	} {
		at, err := time.Parse(time.RFC3339, now)
		if err != nil {
			t.Fatal(err)
		}
		for i, d := range []Digest{Daily, Weekly} {
			if got := d.lastEnd(at).Format(time.RFC3339); got != want[i] {
				t.Errorf("the last %s digest before %s ended %s, want %s", d, now, got, want[i])
			}
		}
	}
}

// TestMailboxes checks that an address in upper case or with a tag, such as mara+1@x.example, shares the limit of letters with the
// plain address.
func TestMailboxes(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"Mara@X.example": "mara@x.example", "mara+1@x.example": "mara@x.example", "mara+1+2@x.example": "mara@x.example",
		"m.ara@x.example": "m.ara@x.example",
	} {
		if got := mailbox(address); got != want {
			t.Errorf("%s is counted as %s, want %s", address, got, want)
		}
	}
}
