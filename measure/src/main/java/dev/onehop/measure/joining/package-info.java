/** The time that a new member takes to join a replica set. */
@NullMarked
package dev.onehop.measure.joining;

import org.jspecify.annotations.NullMarked;
