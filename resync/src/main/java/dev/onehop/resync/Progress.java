package dev.onehop.resync;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Live progress on standard error. On a terminal, it rewrites one line. Elsewhere, it prints a line
 * at the start of each phase, and then every ten seconds. Thread-safe.
 */
public final class Progress implements AutoCloseable {

  private static final long TERMINAL_MILLIS = 250;
  private static final long PLAIN_MILLIS = 10_000;
  private static final String ERASE = "\r\033[K";

  private final PrintStream out;
  private final Terminal terminal;
  private final LongSupplier nanoTime;
  private final @Nullable Timer ticker;

  private String phase = "";
  private String step = "";
  private String state = "";
  private long phaseStarted;
  private long endsAt = Long.MIN_VALUE;
  private boolean lineOpen;
  private boolean closed;

  /** Creates a progress on standard error. A separate thread redraws it until it is closed. */
  public static Progress start() {
    Terminal terminal = Terminal.detect();
    Timer ticker = new Timer("progress", true);
    Progress progress = new Progress(System.err, terminal, System::nanoTime, ticker);
    long period = terminal.interactive() ? TERMINAL_MILLIS : PLAIN_MILLIS;
    ticker.schedule(task(progress::tick), period, period);
    return progress;
  }

  private static TimerTask task(Runnable action) {
    return new TimerTask() {
      @Override
      public void run() {
        action.run();
      }
    };
  }

  /** Creates a progress that shows nothing. */
  public static Progress silent() {
    return new Progress(
        new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8),
        new Terminal(false, 80, false),
        System::nanoTime,
        null);
  }

  Progress(PrintStream out, Terminal terminal, LongSupplier nanoTime, @Nullable Timer ticker) {
    this.out = out;
    this.terminal = terminal;
    this.nanoTime = nanoTime;
    this.ticker = ticker;
  }

  /** Calls an action four times a second, until this progress is closed. */
  public void refresh(Runnable action) {
    if (ticker != null) {
      ticker.schedule(task(action), 0, TERMINAL_MILLIS);
    }
  }

  /**
   * Shows the present state of a task. Begins the phase, unless it is the current one.
   *
   * @param left the expected remaining time; null if it is not known
   */
  public synchronized void show(String name, String text, @Nullable Duration left) {
    if (!name.equals(phase)) {
      phase(name);
    }
    state(text);
    remaining(left);
  }

  /** Begins a phase. */
  public synchronized void phase(String name) {
    begin(name, "");
  }

  /** Begins the measurement of a point. */
  public synchronized void point(int number, int of, String title) {
    begin("point " + number + " of " + of, title);
  }

  private void begin(String name, String nextStep) {
    phase = name;
    step = nextStep;
    state = "";
    phaseStarted = nanoTime.getAsLong();
    draw();
  }

  /** Sets the state within the phase; shown at the next redraw. */
  public synchronized void state(String text) {
    state = text;
  }

  /** Sets the expected remaining time; null if it is not known. */
  public synchronized void remaining(@Nullable Duration left) {
    endsAt = left == null ? Long.MIN_VALUE : nanoTime.getAsLong() + left.toNanos();
  }

  /** Prints a line that is not rewritten. */
  public synchronized void note(String line) {
    erase();
    out.println(line);
    if (terminal.interactive()) {
      draw();
    }
  }

  /**
   * Prints a heading on a terminal. Elsewhere no heading is needed, because the line of each point
   * contains the point's title.
   */
  public synchronized void heading(String title) {
    if (terminal.interactive()) {
      note(title);
    }
  }

  synchronized void tick() {
    draw();
  }

  private void draw() {
    if (phase.isEmpty() || closed) {
      return;
    }
    if (!terminal.interactive()) {
      out.println(text());
      return;
    }
    String text = fit(text(), terminal.columns() - 1);
    if (terminal.colour() && text.startsWith(phase)) {
      text = "\033[1m" + phase + "\033[0m" + text.substring(phase.length());
    }
    out.print(ERASE + text);
    out.flush();
    lineOpen = true;
  }

  /** The current line. */
  synchronized String text() {
    StringBuilder text = new StringBuilder(phase);
    if (!step.isEmpty()) {
      text.append(": ").append(step);
    }
    long seconds = TimeUnit.NANOSECONDS.toSeconds(nanoTime.getAsLong() - phaseStarted);
    if (!state.isEmpty()) {
      text.append(" | ").append(state);
    } else if (seconds > 0) {
      text.append(" | ").append(seconds).append(" s");
    }
    if (endsAt != Long.MIN_VALUE) {
      long left = Math.max(0, endsAt - nanoTime.getAsLong());
      text.append(" | ").append(about(Duration.ofNanos(left))).append(" left");
    }
    return text.toString();
  }

  /** Shortens a line to a width. Keeps its end, which has the remaining time. */
  static String fit(String line, int width) {
    if (line.length() <= width) {
      return line;
    }
    int tail = Math.min(line.length() - line.lastIndexOf(" | "), width / 2);
    boolean hasTail = line.contains(" | ");
    if (!hasTail || width < 24) {
      return line.substring(0, Math.max(0, width - 1)) + "~";
    }
    return line.substring(0, width - tail - 1) + "~" + line.substring(line.length() - tail);
  }

  /** A rounded duration for people: {@code 45 s}, {@code 3 min 20 s}, {@code 1 h 5 min}. */
  public static String about(Duration duration) {
    long seconds = (duration.toMillis() + 500) / 1000;
    if (seconds < 60) {
      return seconds + " s";
    }
    if (seconds < 3600) {
      long rest = seconds % 60 / 10 * 10;
      return seconds / 60 + " min" + (rest == 0 ? "" : " " + rest + " s");
    }
    return seconds / 3600 + " h " + seconds % 3600 / 60 + " min";
  }

  private void erase() {
    if (lineOpen) {
      out.print(ERASE);
      lineOpen = false;
    }
  }

  /** Removes the progress line, so that later output starts on an empty line. */
  @Override
  public synchronized void close() {
    closed = true;
    erase();
    out.flush();
    if (ticker != null) {
      ticker.cancel();
    }
  }
}
