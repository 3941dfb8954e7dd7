/** What change streams measure of themselves. */
@NullMarked
package dev.onehop.streams.observation;

import org.jspecify.annotations.NullMarked;
