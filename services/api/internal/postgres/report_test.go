package postgres

import "github.com/signalcast/signalcast/pkg/skill"

// plainReport returns a copy of a report with values instead of pointers, so that reports can be compared as text.
func plainReport(r skill.Report) (out struct {
	skill.Report
	Calibrated           skill.Calibration
	NeedsMore, NeedsSure string
},
) {
	out.NeedsMore, out.NeedsSure = show(r.Needed), show(r.NeededSure)
	if r.Calibration != nil {
		out.Calibrated = *r.Calibration
	}
	r.Needed, r.NeededSure, r.Calibration = nil, nil, nil
	out.Report = r
	return out
}
