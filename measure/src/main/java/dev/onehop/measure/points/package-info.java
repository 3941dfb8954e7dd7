/**
 * The bench of clients and their loads: points of closed loops, rates, scenarios, zones, fleets.
 */
@NullMarked
package dev.onehop.measure.points;

import org.jspecify.annotations.NullMarked;
