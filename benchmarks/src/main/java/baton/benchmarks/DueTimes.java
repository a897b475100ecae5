package baton.benchmarks;

import baton.Priority;
import baton.scheduler.schedule.DueHeap;
import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentSkipListMap;

/** The due times of entries 0, 1, …, in microseconds, in one of the structures that are compared. */
interface DueTimes {
    /** Adds the entry, or moves it. */
    void set(int entry, long due);

    /** Moves the entry that is due first by {@code delay}. */
    void postponeFirst(long delay);

    static DueTimes of(String structure, int entries) {
        return switch (structure) {
            case "baton" -> new Heap();
            case "sortedArray" -> new SortedArray(entries);
            case "skipList" -> new SkipList(entries);
            case "priorityQueue" -> new Queue(entries);
            default -> throw new IllegalArgumentException(structure);
        };
    }

    final class Heap implements DueTimes {
        private final DueHeap heap = new DueHeap();

        @Override
        public void set(int entry, long due) {
            heap.set(entry, due, Priority.NORMAL);
        }

        @Override
        public void postponeFirst(long delay) {
            heap.set(heap.getFirstSlot(), heap.getFirstDue() + delay, Priority.NORMAL);
        }
    }

    /** A binary search finds the position; the entries behind it move. */
    final class SortedArray implements DueTimes {
        private final long[] dues;
        private final int[] entries;
        private final long[] dueOf;
        private int size;

        SortedArray(int capacity) {
            dues = new long[capacity];
            entries = new int[capacity];
            dueOf = new long[capacity];
            Arrays.fill(dueOf, -1);
        }

        @Override
        public void set(int entry, long due) {
            if (dueOf[entry] >= 0) {
                int index = firstOf(dueOf[entry]);
                while (entries[index] != entry) index++;
                removeAt(index);
            }
            insert(entry, due);
        }

        @Override
        public void postponeFirst(long delay) {
            int entry = entries[0];
            long due = dues[0];
            removeAt(0);
            insert(entry, due + delay);
        }

        private void removeAt(int index) {
            size--;
            System.arraycopy(dues, index + 1, dues, index, size - index);
            System.arraycopy(entries, index + 1, entries, index, size - index);
        }

        private void insert(int entry, long due) {
            int index = firstOf(due + 1);
            System.arraycopy(dues, index, dues, index + 1, size - index);
            System.arraycopy(entries, index, entries, index + 1, size - index);
            dues[index] = due;
            entries[index] = entry;
            dueOf[entry] = due;
            size++;
        }

        /** The first index whose due time is at least {@code due}. */
        private int firstOf(long due) {
            int from = 0;
            int to = size;
            while (from < to) {
                int middle = (from + to) >>> 1;
                if (dues[middle] < due) from = middle + 1;
                else to = middle;
            }
            return from;
        }
    }

    /** An entry and its due time. Equal times are ordered by the entry. */
    record Key(long due, int entry) implements Comparable<Key> {
        static final Comparator<Key> ORDER = Comparator.comparingLong(Key::due).thenComparingInt(Key::entry);

        @Override
        public int compareTo(Key other) {
            return ORDER.compare(this, other);
        }
    }

    final class SkipList implements DueTimes {
        private final ConcurrentSkipListMap<Key, Boolean> map = new ConcurrentSkipListMap<>();
        private final Key[] keys;

        SkipList(int entries) {
            keys = new Key[entries];
        }

        @Override
        public void set(int entry, long due) {
            Key old = keys[entry];
            if (old != null) map.remove(old);
            add(new Key(due, entry));
        }

        @Override
        public void postponeFirst(long delay) {
            Key first = map.pollFirstEntry().getKey();
            add(new Key(first.due() + delay, first.entry()));
        }

        private void add(Key key) {
            keys[key.entry()] = key;
            map.put(key, true);
        }
    }

    final class Queue implements DueTimes {
        private final PriorityQueue<Key> queue = new PriorityQueue<>();
        private final Key[] keys;

        Queue(int entries) {
            keys = new Key[entries];
        }

        @Override
        public void set(int entry, long due) {
            Key old = keys[entry];
            if (old != null) queue.remove(old);
            add(new Key(due, entry));
        }

        @Override
        public void postponeFirst(long delay) {
            Key first = queue.poll();
            add(new Key(first.due() + delay, first.entry()));
        }

        private void add(Key key) {
            keys[key.entry()] = key;
            queue.add(key);
        }
    }
}
