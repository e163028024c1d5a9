package main

import (
	"slices"
	"sync"
	"time"
)

// Calls to one extender by action, in the current session and in total.
type stats struct {
	lock    sync.Mutex
	session map[string]*figures
	all     map[string]*figures
	flying  map[string]*flight
}

type figures struct {
	calls, errors     int
	bytes, replyBytes int64
	wait              time.Duration // with at least one call in flight
	each              []time.Duration
}

// Calls of one action in flight, and the time since when there has been one.
type flight struct {
	count int
	since time.Time
}

type timedCall struct {
	stats  *stats
	action string
	bytes  int
	began  time.Time
}

func newStats() *stats {
	return &stats{session: map[string]*figures{}, all: map[string]*figures{}, flying: map[string]*flight{}}
}

func figuresOf(of map[string]*figures, action string) *figures {
	if of[action] == nil {
		of[action] = &figures{}
	}
	return of[action]
}

func (s *stats) begin(action string, bytes int) timedCall {
	s.lock.Lock()
	defer s.lock.Unlock()
	now := time.Now()
	f := s.flying[action]
	if f == nil {
		f = &flight{}
		s.flying[action] = f
	}
	if f.count == 0 {
		f.since = now
	}
	f.count++
	return timedCall{s, action, bytes, now}
}

func (c timedCall) end(replyBytes int64, err error) {
	now := time.Now()
	c.stats.lock.Lock()
	defer c.stats.lock.Unlock()
	f := c.stats.flying[c.action]
	f.count--
	for _, of := range []map[string]*figures{c.stats.session, c.stats.all} {
		sum := figuresOf(of, c.action)
		sum.calls++
		sum.bytes += int64(c.bytes)
		sum.replyBytes += replyBytes
		sum.each = append(sum.each, now.Sub(c.began))
		if err != nil {
			sum.errors++
		}
		if f.count == 0 {
			sum.wait += now.Sub(f.since)
		}
	}
}

// A reply that came, but cannot be used.
func (s *stats) countError(action string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	figuresOf(s.session, action).errors++
	figuresOf(s.all, action).errors++
}

// --- as it is printed

type verbReport struct {
	Calls      int     `json:"calls"`
	Errors     int     `json:"errors"`
	Bytes      int64   `json:"bytes"`
	ReplyBytes int64   `json:"reply_bytes"`
	WaitS      float64 `json:"wait_s"`
	P50US      float64 `json:"p50_us"`
	P99US      float64 `json:"p99_us"`
}

func report(of map[string]*figures) map[string]verbReport {
	told := map[string]verbReport{}
	for action, f := range of {
		told[action] = verbReport{f.calls, f.errors, f.bytes, f.replyBytes, f.wait.Seconds(), quantile(f.each, 0.5),
			quantile(f.each, 0.99)}
	}
	return told
}

// In us; the least value that at least this part of all does not exceed.
func quantile(of []time.Duration, part float64) float64 {
	if len(of) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(of))
	return float64(sorted[min(len(sorted)-1, int(part*float64(len(sorted))))].Nanoseconds()) / 1000
}

func (s *stats) ofSession() map[string]verbReport {
	s.lock.Lock()
	defer s.lock.Unlock()
	told := report(s.session)
	s.session = map[string]*figures{}
	return told
}

func (s *stats) ofAll() map[string]verbReport {
	s.lock.Lock()
	defer s.lock.Unlock()
	return report(s.all)
}
