package cache

// ordered keeps its members sorted. The links are part of the members, so that
// putting one in and taking it out allocates nothing. Insert begins at the end,
// which is where almost everything belongs: what was used last, who came last.
type ordered[T any] struct {
	first, last *link[T]
	length      int
	before      func(a, b T) bool
}

type link[T any] struct {
	prev, next *link[T]
	member     T
}

func (o *ordered[T]) insert(l *link[T]) {
	after := o.last
	for after != nil && o.before(l.member, after.member) {
		after = after.prev
	}
	l.prev = after
	if after == nil {
		l.next, o.first = o.first, l
	} else {
		l.next, after.next = after.next, l
	}
	if l.next == nil {
		o.last = l
	} else {
		l.next.prev = l
	}
	o.length++
}

// remove takes out a link that is in.
func (o *ordered[T]) remove(l *link[T]) {
	if l.prev == nil {
		o.first = l.next
	} else {
		l.prev.next = l.next
	}
	if l.next == nil {
		o.last = l.prev
	} else {
		l.next.prev = l.prev
	}
	l.prev, l.next = nil, nil
	o.length--
}
