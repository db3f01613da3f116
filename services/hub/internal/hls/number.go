package hls

import (
	"bytes"
	"errors"
	"slices"
	"time"

	"github.com/signalcast/signalcast/pkg/apperr"
)

// turn is one run of an encoder, as its newest playlist tells it in its own numbers. A
// run ends where the numbers go back, or mean something else than they did.
type turn struct {
	From, Top int64 // number of the first entry, and of the one that comes next; no Top: there was no run
	Named     []named
}

// named is an entry of a turn that is here.
type named struct {
	Seq  int64 // the encoder's number
	Name string
	File string
}

// file is what an entry of the turn was when it was named; empty: it was not.
func (t *turn) file(seq int64, name string) string {
	for _, n := range t.Named {
		if n.Seq == seq && n.Name == name {
			return n.File
		}
	}
	return ""
}

// has tells whether a file was named in the turn.
func (t *turn) has(file string) bool {
	return slices.ContainsFunc(t.Named, func(n named) bool { return n.File == file })
}

// takenFor is how long after its last playlist an encoder keeps the stream from one
// that pushed before it.
const takenFor = 10 * time.Second

var (
	// errMissing refuses a playlist of which nothing is here.
	errMissing = apperr.New(apperr.NotFound, "not_found", "no segment that the playlist names is here; segments come first")
	// errTaken refuses an encoder whose stream another one with the same key has taken over.
	errTaken = apperr.New(apperr.Conflict, "limit_reached", "another encoder pushes this stream with the same key").With("limit", 1)
	errLoop  = errPlaylist.Say("a master playlist names playlists of segments")
)

// lateMost is how much later than its playlist a segment may begin to come: encoders
// send both at once, on two connections.
const lateMost = 500 * time.Millisecond

// await waits for segments that are on their way, and a little for the newest one.
func (s *stream) await(list string, p playlist, within time.Duration) {
	entries := p.numbered()
	timeout, late := time.NewTimer(within), time.NewTimer(lateMost)
	defer timeout.Stop()
	defer late.Stop()
	look := time.NewTicker(10 * time.Millisecond)
	defer look.Stop()
	for i := 0; i < len(entries); {
		name := entries[i].name
		s.mu.Lock()
		l := s.list(list)
		done, here := s.coming[name], s.place(list, l, entries[i], s.anew(l, p)) >= 0
		s.mu.Unlock()
		wait := late.C
		switch {
		case done != nil:
			wait = timeout.C
		case here || i < len(entries)-1:
			i++
			continue
		}
		select {
		case <-done: // nil while nothing comes
		case <-look.C:
		case <-wait:
			return
		}
	}
}

// find gives the newest segment that the encoder calls so; -1: there is none.
func (s *stream) find(name string) int {
	for i := len(s.k.Segments) - 1; i >= 0; i-- {
		if s.k.Segments[i].Name == name {
			return i
		}
	}
	return -1
}

// byFile gives the segment that is kept so; -1: there is none.
func (s *stream) byFile(file string) int {
	return slices.IndexFunc(s.k.Segments, func(g segment) bool { return g.File == file })
}

// retry tells whether the same bytes under the same name are a push that came twice:
// only where the segment is the newest of its playlist, or in none yet. Else it is an
// encoder that shows the same film again. What players need first may come at any time.
func (s *stream) retry(g *segment, sum []byte) bool {
	if !bytes.Equal(g.Sum, sum) {
		return false
	}
	if g.Order > 0 {
		l := s.k.Lists[g.Playlist]
		return l != nil && g.Order == l.Next-1
	}
	for _, l := range s.k.Lists {
		if l.Before.has(g.File) {
			return false // it is of an encoder whose stream was taken over
		}
	}
	return true
}

// list gives a playlist of the stream, a new one where there is none.
func (s *stream) list(name string) *list {
	if l := s.k.Lists[name]; l != nil {
		return l
	}
	return &list{Next: 1}
}

// apply takes a playlist over and writes it anew. It names the newest segments that
// follow each other without a hole and are here. The first number in it never goes back.
func (s *stream) apply(name string, p playlist, now time.Time, keep time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.list(name)
	if len(p.variants) > 0 {
		return s.applyMaster(name, l, p, now)
	}
	if s.stale(l, p) {
		if !l.Over && now.Sub(l.At) < takenFor {
			l.Before = s.turn(p)
			return errors.Join(errTaken, s.save())
		}
		l.Before = turn{}
	}
	anew := s.anew(l, p)
	entries, run := s.run(name, l, p, anew)
	if len(run) == 0 || anew && s.late(l, p, len(run)) {
		return errMissing
	}
	s.number(name, l, entries, run)
	// What stands before a jump in the numbers is of an older run of the encoder.
	for i := len(run) - 1; i > 0; i-- {
		if s.k.Segments[run[i]].Order != s.k.Segments[run[i-1]].Order+1 {
			run = run[i:]
			break
		}
	}
	run = slices.DeleteFunc(run, func(at int) bool { return s.k.Segments[at].Order < l.Floor })
	if len(run) == 0 {
		return errMissing
	}
	if anew {
		l.Before = l.Turn
	}
	shown := make([]segment, len(run))
	l.Files, l.At, l.First, l.Over = nil, now, "", p.ended
	for i, at := range run {
		shown[i] = s.k.Segments[at]
		l.Files = append(l.Files, shown[i].File)
	}
	l.Turn = s.named(p, entries, run)
	l.Floor, s.k.Lists[name] = shown[0].Order, l
	// That nothing more comes is not handed on: players would stop for good, and the next
	// encoder may be there already.
	h := head{target: p.target, sequence: shown[0].Order, breaks: shown[0].Breaks, independent: p.independent}
	if shown[0].Cut {
		h.breaks--
	}
	return errors.Join(s.write(name, writePlaylist(h, shown)), s.evict(now, keep), s.save())
}

// applyMaster takes a playlist of renditions over. None of them is one of renditions, so
// no player goes in circles.
func (s *stream) applyMaster(name string, l *list, p playlist, now time.Time) error {
	for _, v := range p.variants {
		if of := s.k.Lists[v.name]; v.name == name || of != nil && of.First != "" {
			return errLoop
		}
	}
	for other, m := range s.k.Lists {
		if other != name && m.First != "" && slices.Contains(m.Files, name) {
			return errLoop
		}
	}
	if err := s.root.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	l.At, l.First, l.Files = now, p.variants[0].name, nil
	for _, v := range p.variants {
		l.Files = append(l.Files, v.name)
	}
	s.k.Lists[name] = l
	return errors.Join(s.write(name, writeMaster(p.variants)), s.save())
}

// turn is a playlist as it is now, with the newest file under each name.
func (s *stream) turn(p playlist) turn {
	t := turn{From: p.sequence, Top: p.sequence + int64(len(p.entries))}
	for _, e := range p.numbered() {
		if at := s.find(e.name); at >= 0 {
			t.Named = append(t.Named, named{e.seq, e.name, s.k.Segments[at].File})
		}
	}
	return t
}

// named is the turn of a playlist whose entries are known to be these segments. They are
// the end of it, but for what has not come.
func (s *stream) named(p playlist, entries []entry, run []int) turn {
	t := turn{From: p.sequence, Top: p.sequence + int64(len(p.entries))}
	skip := len(entries) - len(run)
	for i, at := range run {
		e := entries[skip+i]
		t.Named = append(t.Named, named{e.seq, e.name, s.k.Segments[at].File})
	}
	return t
}

// stale tells whether a playlist is of the encoder before: more of it is of that one
// than of the one that is shown.
func (s *stream) stale(l *list, p playlist) bool {
	before, shown := 0, 0
	for _, e := range p.numbered() {
		at := s.find(e.name)
		if at < 0 {
			continue
		}
		switch s.k.Segments[at].File {
		case l.Turn.file(e.seq, e.name):
			shown++
		case l.Before.file(e.seq, e.name):
			before++
		}
	}
	return before > shown
}

// anew tells whether an encoder began again: its numbers went back, or there is
// something else under them.
func (s *stream) anew(l *list, p playlist) bool {
	t := &l.Turn
	if t.Top == 0 {
		return false
	}
	if p.sequence < t.From || p.sequence+int64(len(p.entries)) < t.Top {
		return true
	}
	met := false
	for _, n := range t.Named {
		i := n.Seq - p.sequence
		if i < 0 || i >= int64(len(p.entries)) {
			continue
		}
		met = true
		if p.entries[i].name != n.Name {
			return true
		}
		old, at := s.byFile(n.File), s.find(n.Name)
		if old >= 0 && !bytes.Equal(s.k.Segments[old].Sum, s.k.Segments[at].Sum) {
			return true
		}
	}
	return !met
}

// late tells whether a playlist whose numbers went back is an older one of the same run,
// not a new run: more of it was named in this run than is new.
func (s *stream) late(l *list, p playlist, fresh int) bool {
	old := 0
	for _, e := range p.numbered() {
		if at := s.find(e.name); at >= 0 && s.k.Segments[at].File == l.Turn.file(e.seq, e.name) {
			old++
		}
	}
	return old > fresh
}

// place gives the segment that an entry means; -1: it is not here. What was named before
// it is only in the same run of the encoder.
func (s *stream) place(name string, l *list, e entry, anew bool) int {
	if !anew {
		if file := l.Turn.file(e.seq, e.name); file != "" {
			return s.byFile(file)
		}
	}
	at := s.find(e.name)
	if at < 0 {
		return -1
	}
	g := &s.k.Segments[at]
	// A list that an older release left knows no turn.
	if g.Order == 0 || g.Playlist == name && l.Turn.Top == 0 {
		return at
	}
	return -1
}

// run gives the newest entries that are here and follow each other, and their places.
func (s *stream) run(name string, l *list, p playlist, anew bool) ([]entry, []int) {
	all := p.numbered()
	end := len(all)
	for end > 0 && s.place(name, l, all[end-1], anew) < 0 {
		end--
	}
	var places []int
	begin, known := end, false
	for begin > 0 {
		e := all[begin-1]
		at := s.place(name, l, e, anew)
		if at < 0 || e.init != "" && s.find(e.init) < 0 {
			break
		}
		if known && s.k.Segments[at].Order == 0 {
			break // it came too late: what is behind it was shown
		}
		known = known || s.k.Segments[at].Order > 0
		places = append(places, at)
		begin--
	}
	slices.Reverse(places)
	return all[begin:end], places
}

// numbered gives the entries with the encoder's numbers.
func (p *playlist) numbered() []entry {
	all := slices.Clone(p.entries)
	for i := range all {
		all[i].seq = p.sequence + int64(i)
	}
	return all
}

// number gives segments that are named for the first time their place. Where none of a
// playlist was named before, the encoder began anew, or a hole is in between.
func (s *stream) number(name string, l *list, entries []entry, run []int) {
	known := slices.ContainsFunc(run, func(at int) bool { return s.k.Segments[at].Order > 0 })
	for i, at := range run {
		g := &s.k.Segments[at]
		if g.Order > 0 {
			continue
		}
		e := entries[i]
		g.Playlist, g.Order, g.Seconds = name, l.Next, g.length(e.seconds)
		g.Cut = (e.cut || !known) && l.Next > 1
		if e.init != "" {
			g.Init = s.k.Segments[s.find(e.init)].File
		}
		if g.Cut {
			l.Breaks++
		}
		g.Breaks, known = l.Breaks, true
		l.Next++
	}
}
