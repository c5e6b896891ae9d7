package messages

// Lease grants an Entry one operation; it counts until LeaseReleased.
type Lease struct{ Op Operation }

// Settled says that a resource is done with an operation, after it was answered,
// or with Returned, which was not.
type Settled struct {
	From    Ref
	ID      OperationID
	Verdict Verdict
	Cause   error // why it is Broken or Returned
}

// LeaseReleased gives a lease back to the Cache.
type LeaseReleased struct {
	From    Ref
	ID      OperationID
	Verdict Verdict
	Cause   error
}

// EntryReady says that an Entry's resource takes operations.
type EntryReady struct{ From Ref }

// EntryClosed says that an Entry's tree is reaped: the slot is free. Cause is why
// its resource never came to be, or ended unasked.
type EntryClosed struct {
	From  Ref
	Cause error
}

// Outdated tells an Entry that a newer fingerprint was seen: it gets no further
// lease, and Close when its last one is back.
type Outdated struct{}

// SweepIdle makes a Cache close what nobody has used for longer than idle.
type SweepIdle struct{}
